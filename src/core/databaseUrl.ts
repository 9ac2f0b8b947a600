// The parts of a database URL. `login` is user and password with the @ after them, or empty. As the driver reads it, it ends
// at the last @: a password may contain others. `hosts`: one or several, with their ports. `rest`: path and parameters.
export function databaseUrlParts(url: string) {
  const [, scheme = '', login = '', hosts = '', rest = ''] =
    /^(\w+:\/\/)((?:[^/?]*@)?)([^/?]*)(.*)$/s.exec(url) ?? []
  return { scheme, login, hosts, rest }
}
