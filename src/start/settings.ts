import { type Config, ConfigError, type Environment, readWhatIsRight } from '../config.ts'
import { channelFaults, messengerFaults } from '../runtime/settingFaults.ts'

export type Settings = { config: Config; faults: string[]; warnings: string[] }

// Every setting, those that channels and messengers read for themselves too, and all that is wrong with any of them.
export async function readSettings(env?: Environment): Promise<Settings> {
  const { config, faults } = readWhatIsRight(env)
  const messengers = await messengerFaults(config.messengerSettings)
  const channels = await channelFaults(config.channelSettings)
  return { config, faults: [...faults, ...messengers.faults, ...channels], warnings: messengers.warnings }
}

export async function readSoundSettings(env?: Environment): Promise<Config> {
  const { config, faults } = await readSettings(env)
  if (faults.length > 0) throw new ConfigError(faults)
  return config
}
