import { ghanaNumbers, type Numbers } from '../../core/phone.ts'

// MTN's markets by the name of their target environment.
export type Market = {
  numbers: Numbers
  currency?: string // only where MTN is known to take no other
}

// MTN's wallets have numbers of their own country. How these begin is MTN's to know: it refuses the others.
export const markets: Readonly<Record<string, Market>> = {
  mtnghana: { numbers: ghanaNumbers, currency: 'GHS' },
  mtnuganda: { numbers: { region: 'UG', country: '256', example: '0772 123456' }, currency: 'UGX' },
  mtncameroon: { numbers: { region: 'CM', country: '237', example: '6 71 23 45 67' }, currency: 'XAF' },
  mtnivorycoast: { numbers: { region: 'CI', country: '225', example: '05 12 34 56 78' }, currency: 'XOF' },
  mtnzambia: { numbers: { region: 'ZM', country: '260', example: '096 6123456' } },
  mtnbenin: { numbers: { region: 'BJ', country: '229', example: '01 97 12 34 56' } },
  mtncongo: { numbers: { region: 'CG', country: '242', example: '06 612 3456' } },
  mtnswaziland: { numbers: { region: 'SZ', country: '268', example: '7612 3456' } },
  mtnguineaconakry: { numbers: { region: 'GN', country: '224', example: '664 12 34 56' } },
  mtnsouthafrica: { numbers: { region: 'ZA', country: '27', example: '083 123 4567' } },
  mtnliberia: { numbers: { region: 'LR', country: '231', example: '088 123 4567' } },
}
