import { readConfig } from './config.ts'
import { createLog } from './log.ts'
import { startGateway } from './main.ts'

const config = readConfig()
const gateway = await startGateway(config, { log: createLog(config.LOG_LEVEL) })
console.log(gateway)
process.once('SIGINT', () => void gateway.stop())
