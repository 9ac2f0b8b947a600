import { type Config, ConfigError, type Environment, readValidConfig } from '../config.ts'
import { providerSettingFaults, messengerFaults } from '../runtime/settingFaults.ts'

// All settings, including those that providers and messengers read themselves, with all faults.
export async function readStartSettings(env?: Environment) {
  const { config, faults } = readValidConfig(env)
  const messengers = await messengerFaults(config.messengerSettings)
  const providers = await providerSettingFaults(config.providerSettings)
  return { config, faults: [...faults, ...messengers.faults, ...providers], warnings: messengers.warnings }
}

export async function readSoundSettings(env?: Environment): Promise<Config> {
  const { config, faults } = await readStartSettings(env)
  if (faults.length > 0) throw new ConfigError(faults)
  return config
}
