import { painter } from './terminal.ts'

// Settings are read from the environment; the words here are for `start --help`.
export const settingWords: Record<string, string> = {
  HOST: 'the address to listen on (127.0.0.1)',
  PORT: 'the port to listen on, 0 for any free one (8080)',
  TOLLGATE_BASE_URL: 'the address that customers and merchants see (http://HOST:PORT)',
  TOLLGATE_DATA_DIR: 'the folder for the database and the master key (./data)',
  DATABASE_URL: 'a PostgreSQL of your own, 15 or later; without it Tollgate runs one itself',
  TOLLGATE_MASTER_KEY:
    'what seals the secrets, 64 hexadecimal digits; newest first when several (a file; none is made with DATABASE_URL)',
  TOLLGATE_POOL_SIZE: 'connections to the database (10)',
  TOLLGATE_BATCH_ROWS: 'requests that may share one statement (256)',
  TOLLGATE_TRUST_PROXY: 'how many proxies stand in front (0)',
  TOLLGATE_STOP_SECONDS: 'how long a stop is announced before the port closes (5, at a terminal 0)',
  TOLLGATE_METRICS_TOKEN:
    'a token that reads /metrics and opens nothing else (none: the support token reads it)',
  TOLLGATE_SUPPORT_TOKEN:
    'the token of /support, /inbox and /metrics (tollgate support token prints the one that is made)',
  TOLLGATE_SANDBOX: 'on or off: the simulated provider of test mode (on)',
  TOLLGATE_EGRESS_ADDRESS: 'the address of this machine that notifications are sent from (any)',
  TOLLGATE_EGRESS_PROXY: 'a proxy that notifications go through: http://user:password@host:port (none)',
  TOLLGATE_EGRESS_PORTS: "ports that a merchant's ipn_url may have, beside 80, 443 and 8443 (none)",
  TOLLGATE_EGRESS_LOOPBACK:
    'on or off: notify addresses of this machine (test payments, without DATABASE_URL, where nobody else reaches it)',
  TOLLGATE_EGRESS_DNS: "name servers that find merchants' hosts, such as 10.0.0.2:53 (the system's)",
  TOLLGATE_PROVIDERS:
    'accounts and providers that serve a payment method before others, best first: mtn-4f7k2q,paystack (by name)',
  TOLLGATE_PROVIDER_EGRESS_ADDRESS:
    'the address of this machine that requests to providers are sent from (any)',
  TOLLGATE_PROVIDER_EGRESS_PROXY:
    'a proxy that requests to providers go through: http://user:password@host:port (none)',
  TOLLGATE_MESSAGES_PER_RECIPIENT: 'SMS and emails to one number or address in 24 hours (10)',
  TOLLGATE_MESSAGES_PER_MERCHANT: 'SMS and emails for one merchant in 24 hours (10000)',
  TOLLGATE_SMS_PREFIXES: 'numbers that may get an SMS begin with one of these (+233)',
  TOLLGATE_REDACT_DAYS:
    'so many days after a payment ended, 31 or more, what is known of its payer is removed (never)',
  LOG_LEVEL: 'trace, debug, info, warn, error or silent (info)',
}

export const settingsHelp = () => {
  const paint = painter(process.stdout)
  const width = Math.max(...Object.keys(settingWords).map(name => name.length))
  const lines = Object.entries(settingWords).map(([name, words]) => `  ${name.padEnd(width)}  ${words}`)
  return `\n${paint('bold', 'Settings, from the environment (default):')}\n${lines.join('\n')}`
}
