// A child process that runs one job at a time and reports when its measurement begins and ends.
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { errorOf } from './starved.js'

const usualGraceMs = 30_000

// `file` is named from the folder of the bench.
export function startWorker(file) {
  const child = fork(fileURLToPath(new URL(`../${file}`, import.meta.url)))
  return {
    pid: child.pid,
    stop: () => child.kill(),
    run: (job, onMeasuring, onMeasured) =>
      new Promise((resolve, reject) => {
        const hear = message => {
          if (message.measuring) onMeasuring()
          else if (message.measured) onMeasured()
          else if (message.failed) fail(message.failed)
          else finish(resolve, message.result)
        }
        const fail = why => finish(reject, errorOf(why))
        const gone = code => fail(`${file} ended with ${code}.`)
        const late = () => fail(`${file} did not finish in time.`)
        const timer = setTimeout(late, job.warmMs + job.measureMs + (job.graceMs ?? usualGraceMs))
        const finish = (settle, value) => {
          clearTimeout(timer)
          child.off('message', hear).off('exit', gone)
          settle(value)
        }
        child.on('message', hear).on('exit', gone)
        child.send(job)
      }),
  }
}
