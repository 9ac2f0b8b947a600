import { leastPassphraseLength } from '../../actions/backups/cipher.ts'
import { refused } from '../failure.ts'
import { readSmallFile } from '../smallFile.ts'

const maxBytes = 4096

// The first line of a file: a credential of systemd, a secret of Docker or Kubernetes. A passphrase on the command line would
// be in the list of processes.
export async function readPassphrase(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined
  const [line = ''] = (await readSmallFile(file, maxBytes)).toString('utf8').split(/\r?\n/)
  if (line.length < leastPassphraseLength)
    throw refused(
      `The first line of ${file} must have at least ${leastPassphraseLength} characters: openssl rand -hex 32 makes one.`,
    )
  return line
}
