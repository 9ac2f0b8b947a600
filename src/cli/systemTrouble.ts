import { explain } from '../postgres/error.ts'

type SystemError = NodeJS.ErrnoException & { address?: string; port?: number; hostname?: string }

const isSystemError = (error: unknown): error is SystemError => error instanceof Error && 'syscall' in error

// Why we cannot listen, where the system said so.
export function listenTrouble(error: unknown): string | undefined {
  if (!isSystemError(error)) return undefined
  const { code, syscall, address, port, hostname } = error
  if (syscall === 'getaddrinfo') return `HOST: ${hostname} is not an address of this machine.`
  if (syscall !== 'listen') return undefined
  if (code === 'EADDRINUSE')
    return `Port ${port} on ${address} is already in use: stop the program that has it, or set PORT to another.`
  if (code === 'EACCES')
    return `Port ${port} is not open to this user: set PORT to one from 1024 up, or allow it.`
  return `HOST: ${address} is not an address of this machine.`
}

const fileCodes = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'ENOTDIR', 'EISDIR', 'EEXIST'])

// Why a file of ours cannot be read or written.
export function fileTrouble(error: unknown): string | undefined {
  if (!isSystemError(error) || !error.path || !fileCodes.has(error.code ?? '')) return undefined
  return explain(error, error.path).message
}
