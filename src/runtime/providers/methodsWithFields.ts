import { fieldsToAsk, type KnownPayer } from '../../core/provider/formFields.ts'
import type { AvailableMethod } from './availableMethods.ts'

const made = new WeakMap<readonly AvailableMethod[], Map<string, readonly AvailableMethod[]>>()

// The ways with what is left to ask this customer. The very same each time: what is drawn of them is kept by them.
export function methodsWithFields(
  methods: readonly AvailableMethod[],
  known: KnownPayer,
): readonly AvailableMethod[] {
  const all = made.get(methods) ?? new Map<string, readonly AvailableMethod[]>()
  const key = `${Boolean(known.email)} ${Boolean(known.name)}`
  const asking =
    all.get(key) ?? methods.map(method => ({ ...method, fields: fieldsToAsk(method.fields, known) }))
  made.set(methods, all.set(key, asking))
  return asking
}
