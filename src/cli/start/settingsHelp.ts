import { painter } from '../terminal.ts'

// The text of `start --help` for each setting of the environment, with its default.
const settingDescriptions: Record<string, string> = {
  HOST: 'the address to listen on (127.0.0.1)',
  PORT: 'the port to listen on, 0 for any free one (8080)',
  TOLLGATE_BASE_URL: 'the address that customers and merchants see (http://HOST:PORT)',
  TOLLGATE_DASHBOARD_HOST: 'an address of its own for the dashboard to listen on (HOST)',
  TOLLGATE_DASHBOARD_PORT: 'a port of its own for the dashboard, 0 for any free one (PORT)',
  TOLLGATE_DASHBOARD_URL: 'the address of the dashboard that users see, if it has its own (http://HOST:PORT)',
  TOLLGATE_DATA_DIR: 'the folder for the database and the master key (./data)',
  DATABASE_URL: 'your own PostgreSQL, 15 or later (none: Tollgate runs one)',
  TOLLGATE_DIRECT_DATABASE_URL:
    'the same database without a pooler, for the connections that need a session of their own (DATABASE_URL)',
  TOLLGATE_MASTER_KEY:
    'the key that encrypts secrets, 64 hexadecimal digits; of several the newest first (a file; none is made with DATABASE_URL)',
  TOLLGATE_POOL_SIZE: 'connections to the database, of each process (10)',
  TOLLGATE_PROCESSES: 'how many processes share the port, for more than one CPU (1)',
  TOLLGATE_BATCH_ROWS: 'how many requests may share one SQL statement (256)',
  TOLLGATE_TRUST_PROXY: 'how many proxies are in front of the gateway (0)',
  TOLLGATE_STOP_SECONDS: 'how long /readyz reports a stop before the port closes (5, at a terminal 0)',
  TOLLGATE_METRICS_TOKEN: 'a token for /metrics only (none: the support token reads it)',
  TOLLGATE_SUPPORT_TOKEN:
    'the token of /support, /inbox and /metrics (generated; tollgate support token prints it)',
  TOLLGATE_ROLE:
    'all, web or worker: web takes payments, worker sends notifications and messages, polls providers and ends payments (all)',
  TOLLGATE_WORKERS: 'off is the same as TOLLGATE_ROLE=web, for drills (on)',
  TOLLGATE_SANDBOX: 'on or off: the simulated provider of test mode (on)',
  TOLLGATE_EGRESS_ADDRESS: 'the address of this machine that notifications are sent from (any)',
  TOLLGATE_EGRESS_PROXY: 'a proxy that notifications go through: http://user:password@host:port (none)',
  TOLLGATE_EGRESS_PORTS: "ports that a merchant's ipn_url may have, in addition to 80, 443 and 8443 (none)",
  TOLLGATE_EGRESS_LOOPBACK:
    'on or off: send notifications to addresses of this machine (on for test payments, without DATABASE_URL, if only this machine reaches the gateway)',
  TOLLGATE_EGRESS_DNS: "name servers for merchants' hosts, such as 10.0.0.2:53 (the system's)",
  TOLLGATE_PROVIDERS: 'accounts and providers in order of preference: mtn-4f7k2q,paystack (by name)',
  TOLLGATE_PROVIDER_EGRESS_ADDRESS:
    'the address of this machine that requests to providers are sent from (any)',
  TOLLGATE_PROVIDER_EGRESS_PROXY:
    'a proxy that requests to providers go through: http://user:password@host:port (none)',
  TOLLGATE_MESSAGES_PER_RECIPIENT: 'most SMS and emails to one number or address in 24 hours (10)',
  TOLLGATE_MESSAGES_PER_MERCHANT: 'most SMS and emails for one merchant in 24 hours (10000)',
  TOLLGATE_SMS_PREFIXES: 'SMS are sent only to numbers that start with one of these (+233)',
  TOLLGATE_REDACT_DAYS:
    'how many days after the end of a payment the details of its payer are removed, 31 or more (never)',
  TOLLGATE_TIME_ZONE: 'the time zone of the days of balances and reports, such as Africa/Accra (UTC)',
  TOLLGATE_LEDGER_MAIL: 'an address that gets the heads of the ledger by email every day (none)',
  LOG_LEVEL: 'trace, debug, info, warn, error or silent (info)',
}

export const settingsHelp = () => {
  const paint = painter(process.stdout)
  const width = Math.max(...Object.keys(settingDescriptions).map(name => name.length))
  const lines = Object.entries(settingDescriptions).map(([name, text]) => `  ${name.padEnd(width)}  ${text}`)
  return `\n${paint('bold', 'Settings, from the environment (default):')}\n${lines.join('\n')}`
}
