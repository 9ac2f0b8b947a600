import { ask, type Login, openSession, type Session } from '../session.ts'

const reopenAfterMs = 1000

// A gateway keeps a session with nothing to do but to be seen by others that want the same data.
export type GatewayMark = { takeDown(): Promise<void> }

export async function setGatewayMark(sockets: string, login: Login): Promise<GatewayMark> {
  let session: Session | undefined
  let down = false
  const hang = async () => {
    session = await openSession(sockets, login, `tollgate gateway ${process.pid}`)
    session.keepAwake(false)
    session.client.once('end', again)
    if (down) await session.close()
  }
  const again = () => {
    if (!down) setTimeout(() => void hang().catch(again), reopenAfterMs).unref()
  }
  await hang()
  return {
    takeDown: async () => {
      down = true
      await session?.close()
    },
  }
}

// The process ids of the gateways that are to be seen: one, or none.
export async function readGatewayMarks(sockets: string, login: Login): Promise<number[]> {
  const rows = await ask<{ pid: number }>(
    sockets,
    login,
    `select substring(application_name from '\\d+$')::int as pid
     from pg_stat_activity where application_name ~ '^tollgate gateway \\d+$'`,
  )
  return rows.map(row => row.pid)
}
