import type { Way } from '../../../core/channel/way.ts'

// Drawn with attributes: each channel brings colours of its own, and no inline style is allowed on the page.
export const Badge = ({ badge }: Pick<Way, 'badge'>) => (
  <svg class="badge" viewBox="0 0 46 28" aria-hidden="true" focusable="false">
    <rect x=".5" y=".5" width="45" height="27" rx="6" fill={badge.background} />
    <text
      x="23"
      y="19"
      text-anchor="middle"
      font-size={badge.text.length > 4 ? 9 : 13}
      font-weight="700"
      fill={badge.ink}
    >
      {badge.text}
    </text>
  </svg>
)
