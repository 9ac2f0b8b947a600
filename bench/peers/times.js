// The delivery latency of a system, alone and beside an endpoint that hangs.
import { nowMs } from '../load/moment.js'
import { endpoints, evenly, few, ok, perSecond, rateAndCpu, section, warmMs } from './section.js'
import { completed, countAt, meterOf, timesOf, withSystem } from './turns.js'

const usualBurst = 1000
const hangingPatienceMs = 120_000

export const paced = (bench, { rounds, measureMs }) =>
  section(bench, {
    title: `${perSecond} a second`,
    table: 'peersTimes',
    about: [
      `Milliseconds to the first byte at one of ${endpoints} endpoints: from when it was accepted, and from when it was sent.`,
    ],
    rounds,
    measureMs,
    kinds: ok(endpoints),
    compared: [{ by: 'wholeP99', words: 'p99 from sent' }, rateAndCpu[1]],
    turn: ({ receiver, ports, system }) =>
      withSystem(
        system.open(ports, () => Math.ceil((perSecond * (warmMs + measureMs)) / 1000 / endpoints)),
        async open => {
          await open.start()
          const meter = meterOf(bench, open)
          const receiverMs = receiver.cpuMs()
          meter.start()
          const sent = await open.send(evenly(perSecond, warmMs + measureMs, endpoints))
          meter.stop()
          const { done, began, refused, refusal } = sent
          const cpuMs = receiver.cpuMs() - receiverMs + sent.cpuMs
          const counted = await countAt(
            receiver,
            done.map(({ id }) => id),
          )
          const figures = completed(meter, { requests: done.length, rate: perSecond, cpuMs })
          const warm = done.filter(({ cameAt }) => cameAt >= began + warmMs)
          const { lost, twice, arrivals } = counted
          return { ...figures, ...timesOf(warm, arrivals, nowMs()), refused, refusal, lost, twice }
        },
      ),
  })

export const hanging = (bench, { rounds, hangingMs, burst = usualBurst }) =>
  section(bench, {
    title: `one of ${few} endpoints hangs`,
    table: 'peersHanging',
    about: [
      `${perSecond} a second to ${few} endpoints, one of which never answers; milliseconds to the first byte at the healthy ones.`,
      `After a burst: ${burst} were accepted for the hanging one just before.`,
    ],
    rounds,
    measureMs: hangingMs,
    kinds: ok(few),
    ways: [
      { sign: '', words: ', steady', burst: 0 },
      { sign: '+', words: ', after a burst', burst },
    ],
    compared: [{ by: 'wholeP99', words: 'p99' }],
    turn: ({ receiver, ports, system, way }) => {
      const items = evenly(perSecond, hangingMs, few)
      const each = Math.ceil(items.length / few)
      return withSystem(
        system.open(ports, at => (at === 0 ? each + way.burst : each)),
        async open => {
          await open.start()
          const first = Array.from({ length: way.burst }, (_, n) => ({ endpoint: 0, n: each + n }))
          if (way.burst > 0) await open.send(first)
          const meter = meterOf(bench, open)
          meter.start()
          const { done, refused, refusal, cpuMs } = await open.send(items)
          meter.stop()
          const healthy = done.filter(({ endpoint }) => endpoint !== 0)
          const counted = await countAt(
            receiver,
            healthy.map(({ id }) => id),
            hangingPatienceMs,
          )
          const figures = completed(meter, { requests: done.length, rate: perSecond, cpuMs })
          const times = timesOf(healthy, counted.arrivals, nowMs())
          return { ...figures, ...times, refused, refusal, lost: counted.lost }
        },
      )
    },
  })
