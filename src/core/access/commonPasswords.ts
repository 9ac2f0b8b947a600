// The words that lists of breached passwords begin with, and those that a gateway in West Africa invites. Simplified as
// password.ts does it: without digits and marks at the end. A password that is one of them, whatever its disguise, is refused.
const words = `
  password passwordpassword mypassword thepassword newpassword changeme changemenow letmein letmeinnow welcome
  welcomeback iloveyou iloveyouso iloveyoubaby princess sunshine football basketball baseball superman batman
  spiderman pokemon starwars whatever trustno trustnoone qwertyuiop qwertyqwerty asdfghjkl zxcvbnm qazwsxedc
  qazwsx onetwothree abcdefghij abcdabcd abcabcabc aaaaaaaaaa administrator admin adminadmin rootroot superuser
  operator tollgate payment payments gateway money mobilemoney momo mtnmomo ghana accra kumasi ghanaghana
  blackstar blackstars jesuschrist jesusislord godisgood godisgreat godislove blessed thankyoujesus ilovejesus
  jesusloves hallelujah christ bismillah allahuakbar inshallah chelsea chelseafc liverpool liverpoolfc
  manchester manchesterunited arsenal arsenalfc realmadrid barcelona juventus michael jennifer christopher
  elizabeth alexander victoria charlotte samantha jonathan benjamin computer internet samsung samsunggalaxy
  iphone android google facebook instagram whatsapp twitter linkedin microsoft windows apple secret secretsecret
  topsecret private default guest testtest testing testtesttest tester sample example demo demodemo temporary
  temppassword passw passphrase login loginlogin access accessgranted master masterkey mastermaster dragon
  monkey shadow killer hunter hello helloworld hellohello helloo hellokitty goodmorning goodluck happy
  happybirthday happynewyear birthday christmas summer winter spring autumn january february march april june
  july august september october november december monday tuesday wednesday thursday friday saturday sunday
  family familyfirst mother father brother sister daughter myfamily mylove lovelove loveyou lovely loveme
  babygirl babyboy sweetheart honey chocolate cookie banana orange pineapple strawberry butterfly rainbow
  sunflower flower flowers diamond crystal silver golden purple yellow freedom liberty forever foreveryoung
  nothing something anything everything nobody somebody fuckyou fuckyoufuckyou asshole maggie jordan
  michaeljordan ferrari mercedes porsche corvette mustang harley thunder lightning phoenix eagle tiger lion
  panther matrix gandalf startrek naruto minecraft fortnite roblox playstation nintendo soccer hockey tennis
  cricket guitar metallica eminem beyonce rihanna correcthorsebatterystaple correcthorse iamthebest iamgod
  iamyours number numberone businessman business company companyname office officee6s shop myshop shopshop
  cashier cash owner accountant developer finance support supportsupport service customer motdepasse azertyuiop
  azerty bonjour bonjourbonjour soleil jetaime doudou marseille parisparis chouchou loulou amour monamour
  contrasena passwort kennwort willkommen senha parola adgjmptw zaqwsx zaqxsw onelove unitedstates america
  london nigeria lagos abidjan
`

const asTyped = `
  1234567890 0123456789 0987654321 12345678910 123456789a 1q2w3e4r5t 1qaz2wsx3edc q1w2e3r4t5 1234512345 0000000000 1111111111 1122334455 9876543210
  123123123123 123456123456 147258369 0240000000 0241234567 a123456789 123456789q 987654321a 1029384756 q1w2e3r4t5y6 zaq12wsxcde3 1234qwerasdf
`

export const commonPasswords: ReadonlySet<string> = new Set(`${words} ${asTyped}`.trim().split(/\s+/))
