// Notices that a new connection leads to another database server than the one before, or to the same one after a restart or
// a promotion. It may be a copy of the database, so it is checked again.
export type ServerChanges = {
  connected(server: string, isPooled: boolean): void
  isPooled(): boolean // a pooler may lead an open connection to another server, which no new connection shows
  onChange(listener: () => void): void // called before the first statement on the new connection
}

export function watchServerChanges(): ServerChanges {
  let last: string | undefined
  let pooled = false // as of the last connection
  const listeners: (() => void)[] = []
  return {
    connected(server, isPooled) {
      pooled = isPooled
      const isOther = last !== undefined && last !== server
      last = server
      if (isOther) for (const listener of listeners) listener()
    },
    isPooled: () => pooled,
    onChange: listener => void listeners.push(listener),
  }
}
