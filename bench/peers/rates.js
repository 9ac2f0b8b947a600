// How many notifications a system delivers per second.
import { setTimeout as sleep } from 'node:timers/promises'
import { endpoints, ok, rateAndCpu, section, warmMs } from './section.js'
import { completed, countAt, meterOf, untilCame, withSystem } from './turns.js'

export const backlog = (bench, { rounds, count, measureMs }) =>
  section(bench, {
    title: 'a backlog is delivered',
    table: 'peersBacklog',
    about: [
      `${count} that were accepted before the workers start, to ${endpoints} endpoints that answer at once.`,
    ],
    rounds,
    measureMs,
    kinds: ok(endpoints),
    compared: rateAndCpu,
    turn: ({ receiver, ports, system }) =>
      withSystem(system.open(ports), async open => {
        const ids = await open.fill(count)
        await open.start()
        await untilCame(receiver, count / 20)
        const meter = meterOf(bench, open)
        const [before, receiverMs] = [await receiver.count(), receiver.cpuMs()]
        meter.start()
        await untilCame(receiver, (count * 19) / 20, measureMs)
        meter.stop()
        const after = await receiver.count()
        const requests = after.distinct - before.distinct
        const rate = (requests * 1000) / (after.at - before.at)
        const figures = completed(meter, { requests, rate, cpuMs: receiver.cpuMs() - receiverMs })
        const { lost, twice } = await countAt(receiver, ids)
        return { ...figures, lost, twice }
      }),
  })

export const endToEnd = (bench, { rounds, measureMs }) =>
  section(bench, {
    title: 'end to end',
    table: 'peersWhole',
    about: [
      `As fast as 32 connections can: accepted by the interface and told to ${endpoints} endpoints. Ours is the change of a`,
      'payment by the cancel form of its page, theirs one message. CPU is for each that was told.',
    ],
    rounds,
    measureMs,
    kinds: ok(endpoints),
    compared: rateAndCpu,
    turn: ({ receiver, ports, system, measureMs: forMs }) =>
      withSystem(
        system.open(ports, () => mostPerSecond(forMs)),
        async open => {
          await open.start()
          const meter = meterOf(bench, open)
          const sending = open.send(flood(forMs), warmMs + forMs)
          await sleep(warmMs)
          const [before, receiverMs] = [await receiver.count(), receiver.cpuMs()]
          meter.start()
          await sleep(forMs)
          meter.stop()
          const usedThere = receiver.cpuMs() - receiverMs
          const after = await receiver.count()
          const { done, refused, refusal, cpuMs } = await sending
          const requests = after.distinct - before.distinct
          const rate = (requests * 1000) / (after.at - before.at)
          const isMeasured = ({ acceptedAt }) => acceptedAt >= before.at && acceptedAt < after.at
          const acceptedRate = (done.filter(isMeasured).length * 1000) / (after.at - before.at)
          const senderMs = (cpuMs * forMs) / (warmMs + forMs)
          const { lost, twice } = await countAt(
            receiver,
            done.map(({ id }) => id),
          )
          const figures = completed(meter, { requests, rate, cpuMs: usedThere + senderMs })
          return { ...figures, acceptedRate, refused, refusal, lost, twice }
        },
      ),
  })

const mostEach = 60 // a second, of each endpoint: more than anybody can
const mostPerSecond = measureMs => Math.ceil((mostEach * (warmMs + measureMs)) / 1000)
const flood = measureMs =>
  Array.from({ length: mostPerSecond(measureMs) * endpoints }, (_, at) => ({
    endpoint: at % endpoints,
    n: Math.floor(at / endpoints),
  }))
