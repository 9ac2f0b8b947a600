import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isSecured, secureCluster } from './access.ts'
import { reasonIn } from './childProcess.ts'
import { type DataFolder, openDataFolder } from './dataFolder.ts'
import { EmbeddedError, explain } from './error.ts'
import { initCluster } from './initCluster.ts'
import { isAlive, type Postmaster, readPostmaster } from './postmasterPid.ts'
import { launch, type Server, stopServer } from './server.ts'
import {
  appLogin,
  type GatewayMark,
  type Login,
  readGatewayMarks,
  setGatewayMark,
  socketUrl,
  takeGuestLock,
} from './session.ts'
import { gatewayUser } from './user.ts'

const startTimeoutMs = 20_000 // while another command uses the database, or a server starts or stops
const retryMs = 100
const guestsMayStayMs = { gateway: 2000, command: 10_000 }

// One gateway at a time runs on a data folder, for long. Commands are short and may run beside it. The processes of a
// gateway (TOLLGATE_PROCESSES) join the server of their supervisor and never start one.
export type Role = 'gateway' | 'command' | 'process'
type Owner = keyof typeof guestsMayStayMs

export type Embedded = {
  url: string
  owner: boolean // false: a guest on the server of another process
  gateway(): Promise<number | undefined> // the process id of the gateway that runs on the data folder
  onExit(listener: (why: string) => void): void // called if a server that this process owns ends before stop()
  stop(): Promise<void>
}

// Runs a private PostgreSQL on a data folder, or joins the one that runs there. When root starts it, the members of one
// group may enter the folder of the socket: the group of the user that the gateway becomes, or by default the usual one.
export async function startEmbedded(dataDir: string, role: Role, group?: number): Promise<Embedded> {
  try {
    const home = openDataFolder(resolve(dataDir))
    await initCluster(home)
    return await ownOrJoin(home, role, group)
  } catch (error) {
    throw explain(error, resolve(dataDir))
  }
}

async function ownOrJoin(home: DataFolder, role: Role, group: number | undefined): Promise<Embedded> {
  const deadline = performance.now() + startTimeoutMs
  for (;;) {
    const holder = readPostmaster(home.cluster)
    if (!holder?.alive) {
      if (role === 'process') throw supervisorGone(home)
      const socketGroup = home.runAs && (group ?? gatewayUser()?.gid)
      const server =
        (await secureCluster(home, holder?.pid)) && (await launch(home, holder?.pid, { group: socketGroup }))
      if (server) return own(home, server, role)
    } else if (holder.ready && isSecured(home)) {
      const guest = role === 'gateway' ? await refuseSecondGateway(home, holder) : await join(home, holder)
      if (guest) return guest
    }
    if (performance.now() > deadline) throw await startTimedOut(home)
    await sleep(retryMs)
  }
}

async function own(home: DataFolder, server: Server, role: Owner): Promise<Embedded> {
  const { program, sockets } = server
  let stopping: Promise<void> | undefined
  let mark: GatewayMark | undefined
  const stop = async () => {
    program.holdProcess(true)
    await mark?.remove()
    await stopServer(home, server, guestsMayStayMs[role])
    await program.cleanedUp
  }
  const embedded: Embedded = {
    url: socketUrl(sockets, home.password),
    owner: true,
    gateway: async () => (role === 'gateway' ? process.pid : undefined),
    onExit: listener =>
      void program.ended.then(how => {
        if (!stopping)
          listener(
            `PostgreSQL ended by itself (${how}): ${reasonIn(program.output()) ?? 'it gave no reason'}`,
          )
      }),
    stop: () => (stopping ??= stop()),
  }
  try {
    if (role === 'gateway') mark = await setGatewayMark(sockets, appLogin(home.password))
    program.holdProcess(false)
    return embedded
  } catch (error) {
    await embedded.stop()
    throw error
  }
}

// Undefined if the server does not accept connections now: it is stopping, or its first start has not ended.
async function join(
  { cluster, password }: DataFolder,
  { sockets }: Postmaster,
): Promise<Embedded | undefined> {
  const session = await takeGuestLock(sockets, appLogin(password)).catch(() => undefined)
  if (!session) return undefined
  const url = socketUrl(sockets, password)
  const gateway = () => gatewayAt(sockets, appLogin(password))
  const embedded = { url, owner: false, gateway, onExit: () => {}, stop: () => session.close() }
  if (readPostmaster(cluster)?.ready) return embedded
  await embedded.stop() // the lock was released by a server that has begun to stop
  return undefined
}

// The mark of a gateway that was killed disappears with its server, within moments.
async function refuseSecondGateway(home: DataFolder, { sockets }: Postmaster): Promise<undefined> {
  const gateway = await gatewayAt(sockets, appLogin(home.password))
  if (gateway !== undefined) throw inUse(home, gateway)
}

const gatewayAt = async (sockets: string, login: Login) =>
  (await readGatewayMarks(sockets, login).catch(() => [])).find(isAlive)

async function startTimedOut(home: DataFolder): Promise<EmbeddedError> {
  const holder = readPostmaster(home.cluster)
  if (holder?.alive && !isSecured(home)) return otherPassword(home, holder.pid)
  const gateway = holder?.ready ? await gatewayAt(holder.sockets, appLogin(home.password)) : undefined
  if (gateway !== undefined) return inUse(home, gateway)
  return new EmbeddedError(
    `The database in ${home.cluster} is still in use by another Tollgate command, or busy starting or stopping, ` +
      `after ${startTimeoutMs / 1000} seconds: wait for it and start again (see ${home.log}).`,
  )
}

const supervisorGone = ({ cluster }: DataFolder) =>
  new EmbeddedError(
    `The database in ${cluster} has ended, and with it the gateway that this process belongs to.`,
  )

const otherPassword = ({ dataDir }: DataFolder, pid: number) =>
  new EmbeddedError(
    `The database in the data folder ${dataDir} is running (process ${pid}), but not with the password in ` +
      'postgres.pgpass: stop the Tollgate that runs it, and start again.',
  )

const inUse = ({ dataDir }: DataFolder, pid: number) =>
  new EmbeddedError(
    `Another Tollgate (process ${pid}) is already running on the data folder ${dataDir}. ` +
      'Stop it first, or choose another TOLLGATE_DATA_DIR.',
  )
