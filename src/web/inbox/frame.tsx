import type { PropsWithChildren } from '../../core/markup/jsx-runtime.ts'
import { Document } from '../support/frame.tsx'

// The frame of the inbox: the support pages' looks, and its own.
export const Frame = ({ title, children }: PropsWithChildren<{ title: string }>) => (
  <Document title={`${title} · Tollgate inbox`} styles={['/inbox/inbox.css']}>
    <header class="top">
      <p class="place">Tollgate inbox</p>
      <nav aria-label="Places">
        <a href="/inbox">Refresh</a>
        <a href="/support">Support</a>
      </nav>
    </header>
    <main>{children}</main>
  </Document>
)
