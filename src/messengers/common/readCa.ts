import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'

// The one authority that signs the other side's certificate, for a server with a certificate of its own making.
export function readCa(name: string, path: string | undefined): string | undefined {
  if (!path) return undefined
  try {
    const pem = readFileSync(path, 'utf8')
    new X509Certificate(pem).toString()
    return pem
  } catch (error) {
    throw new Error(
      `${name}: must be the path of a PEM file with a certificate (${(error as Error).message}).`,
      {
        cause: error,
      },
    )
  }
}
