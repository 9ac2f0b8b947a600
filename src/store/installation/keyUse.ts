import { keysOfRunning, type KeyUse, neededKey } from '../../core/operator/masterKeyNeed.ts'
import { named, type Tx } from '../db.ts'
import type { MasterKeys } from '../merchants/vault.ts'
import { nodeRows } from './nodes.ts'

// The master keys that seal something now.
export const keyUses = (tx: Tx) =>
  tx.rows<KeyUse>(named('key_uses')`
    select master_key_id, count(*)::integer as rows, bool_or(of_installation) as seals_installation
    from (
      select master_key_id, false as of_installation from merchants
      union all select master_key_id, false from provider_accounts
      union all select master_key_id, true from installation_secrets
    ) sealed group by master_key_id order by master_key_id`)

// The id of a master key that this process lacks and cannot work without, or undefined.
export async function findNeededKey(tx: Tx, masterKeys: MasterKeys): Promise<string | undefined> {
  const inUse = await keyUses(tx)
  const held = (id: string) => masterKeys.byId(id) !== undefined
  if (inUse.every(({ master_key_id }) => held(master_key_id))) return undefined
  return neededKey({ inUse, held, heldByOthers: keysOfRunning(await nodeRows(tx)) })
}
