import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { decrypt, encryptedMark } from './cipher.ts'
import { BackupFault, damaged } from '../../core/backup/fault.ts'
import {
  type BackupHead,
  type BackupManifest,
  differenceOf,
  headFile,
  linesIn,
  manifestFile,
  parseHead,
  parseManifest,
  partFile,
  type TableFacts,
} from '../../core/backup/manifest.ts'
import { readTar, type TarFile } from '../../core/backup/tar.ts'

export type BackupSource = { path: string; passphrase: string | undefined }

// What happens to the data. `table` has to read all of it.
export type BackupSink = {
  begin(head: BackupHead): Promise<void>
  table(table: BackupHead['tables'][number], data: AsyncIterable<Buffer>, head: BackupHead): Promise<void>
}

// Reads a backup from its first to its last byte and compares every table with the manifest at its end. Until it returns,
// the sink must not commit anything.
export async function readBackup(source: BackupSource, sink: BackupSink): Promise<BackupManifest> {
  const files = readTar(unpacked(source))
  try {
    return await readFiles(files, sink)
  } catch (error) {
    throw isPackingError(error) ? damaged('it cannot be unpacked, or was cut off', error) : error
  } finally {
    await files.return(undefined)
  }
}

async function readFiles(files: AsyncGenerator<TarFile>, sink: BackupSink): Promise<BackupManifest> {
  const next = async (): Promise<TarFile> => {
    const { value, done } = await files.next()
    if (done) throw damaged('its manifest is missing')
    return value
  }
  const first = await next()
  if (first.name !== headFile) throw damaged('its description is missing')
  const head = parseHead(first.body)
  await sink.begin(head)
  let file = await next()
  const found: TableFacts[] = []
  for (const table of head.tables) {
    const hash = createHash('sha256')
    let [rows, bytes] = [0, 0]
    const data = async function* () {
      for (let part = 1; file.name === partFile(table.name, part); part++) {
        hash.update(file.body)
        rows += linesIn(file.body)
        bytes += file.body.length
        yield file.body
        file = await next()
      }
    }
    await sink.table(table, data(), head)
    found.push({ name: table.name, rows, bytes, sha256: hash.digest('hex') })
  }
  if (file.name !== manifestFile) throw damaged('a part of a table is missing')
  const manifest = parseManifest(file.body)
  if (!(await files.next()).done) throw damaged('there is something behind its manifest')
  const wrong =
    differenceOf('description', head, manifest.head) ??
    found.map((facts, at) => differenceOf(facts.name, manifest.tables[at], facts)).find(Boolean)
  if (wrong) throw damaged(wrong)
  return manifest
}

// Reads the whole file and keeps nothing: whether it is complete and unchanged.
export const checkBackupFile = (source: BackupSource): Promise<BackupManifest> =>
  readBackup(source, {
    async begin() {},
    async table(_, data) {
      for await (const part of data) void part
    },
  })

async function* unpacked({ path, passphrase }: BackupSource): AsyncGenerator<Buffer> {
  const isEncrypted = await hasMark(path)
  if (isEncrypted && passphrase === undefined)
    throw new BackupFault(`${path} is encrypted: give --passphrase-file.`)
  if (!isEncrypted && passphrase !== undefined)
    throw new BackupFault(
      `${path} is not encrypted, or its beginning is damaged. If it should not be encrypted, leave out --passphrase-file.`,
    )
  const raw = createReadStream(path, { highWaterMark: 256 * 1024 })
  const gunzip = createGunzip({ chunkSize: 256 * 1024 })
  const packed =
    passphrase === undefined ? raw : Readable.from(decrypt(raw, passphrase), { objectMode: false })
  packed.on('error', (error: Error) => gunzip.destroy(error))
  try {
    yield* packed.pipe(gunzip) as AsyncIterable<Buffer>
  } finally {
    packed.destroy()
    raw.destroy()
    gunzip.destroy()
  }
}

async function hasMark(path: string): Promise<boolean> {
  const file = await open(path, 'r')
  try {
    if ((await file.stat()).isDirectory()) throw new BackupFault(`${path} is a folder: name a file in it.`)
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(encryptedMark.length),
      0,
      encryptedMark.length,
      0,
    )
    return bytesRead === encryptedMark.length && buffer.equals(encryptedMark)
  } finally {
    await file.close()
  }
}

// zlib names its errors Z_DATA_ERROR and so on.
const isPackingError = (error: unknown) => String((error as { code?: unknown }).code).startsWith('Z_')
