// The icons of the places. Each is a decoration beside its name.
const paths = {
  overview:
    'M3 4.5A1.500 1.500 0 0 1 4.500 3H9v6H3zM11 3h4.500A1.500 1.500 0 0 1 17 4.500V9h-6zM3 11h6v6H4.500A1.500 1.500 0 0 1 3 15.500zM11 11h6v4.500a1.500 1.500 0 0 1-1.500 1.500H11z',
  payments: 'M3 6.500h11M11 3.500l3 3-3 3M17 13.500H6M9 10.500l-3 3 3 3',
  take: 'M7.500 2.500h5a2 2 0 0 1 2 2v11a2 2 0 0 1-2 2h-5a2 2 0 0 1-2-2v-11a2 2 0 0 1 2-2zM10 6.500v5M7.500 9h5',
  money:
    'M3.500 5.500c0-1.400 2.900-2.500 6.500-2.500s6.500 1.100 6.500 2.500-2.900 2.500-6.500 2.500-6.500-1.100-6.500-2.500v9c0 1.400 2.900 2.500 6.500 2.500s6.500-1.100 6.500-2.500v-9M3.500 10c0 1.400 2.900 2.500 6.500 2.500s6.500-1.100 6.500-2.500',
  developers: 'M6.500 6l-4 4 4 4M13.500 6l4 4-4 4M11.500 4l-3 12',
  settings: 'M3 6h7M14 6h3M3 14h3M10 14h7M12 4a2 2 0 1 1 0 4a2 2 0 1 1 0-4M8 12a2 2 0 1 1 0 4a2 2 0 1 1 0-4',
  live: 'M2.500 10h3l2.500-6 4 12 2.500-6h3',
  merchants:
    'M3.500 8.500v8h13v-8M2.500 8l1.500-4.500h12L17.500 8M2.500 8a2.500 2.500 0 0 0 5 0a2.500 2.500 0 0 0 5 0a2.500 2.500 0 0 0 5 0M8 16.500v-4h4v4',
  accounts: 'M7 2.500V7M13 2.500V7M5 7h10v3a5 5 0 0 1-10 0zM10 15v3',
  tasks: 'M3 11l2-7h10l2 7v5H3zM3 11h4l1 2h4l1-2h4',
  refunds: 'M8 4L4 8l4 4M4 8h8a4 4 0 0 1 0 8H8',
  messages: 'M3 4h14v9H9l-4 3.500V13H3z',
  people:
    'M10 3l6 2v5c0 3.500-2.500 5.800-6 7-3.500-1.200-6-3.500-6-7V5zM10 8a1.500 1.500 0 1 1 0 3a1.500 1.500 0 1 1 0-3M7.500 14c.500-1.500 4.500-1.500 5 0',
  users:
    'M7 4a3 3 0 1 1 0 6a3 3 0 1 1 0-6M1.500 17c0-4 11-4 11 0M13 4.500a2.700 2.700 0 0 1 0 5.200M15 12.500c2 .500 3.500 2 3.500 4',
  audit:
    'M10 2.500l6.500 2v5.500c0 3.800-2.700 6.300-6.500 7.500-3.800-1.200-6.500-3.700-6.500-7.500V4.500zM7 10l2 2 4-4',
  docs: 'M5 2.500h6.500L15.500 6.500v11H5zM11.500 2.500v4h4M7.500 10.500h5M7.500 13.500h5',
  more: 'M4 10v.01M10 10v.01M16 10v.01',
} as const

export type Place = keyof typeof paths

export const PlaceIcon = ({ name }: { name: Place }) => (
  <svg class="i" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
    <path d={paths[name]} />
  </svg>
)

export const PlusIcon = () => (
  <svg class="i" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
    <path d="M10 4v12M4 10h12" />
  </svg>
)

// Beside the word of a small button.
export const SmallIcon = ({ path }: { path: string }) => (
  <svg class="i s" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
    <path d={path} />
  </svg>
)
