import { type Child, type PropsWithChildren, raw, written } from '../../core/markup/jsx-runtime.ts'
import { PageFrame } from '../../core/markup/page.tsx'
import { stripBidiControls } from '../../core/text.ts'

type OperatorPageProps = PropsWithChildren<{
  title: string
  styles?: readonly string[] // after the common ones
  headerClass?: string
  header: Child
}>

// The frame of the support pages and the inbox. They show texts of customers, shops and providers, so bidi controls
// are removed here, from all of the page.
export const OperatorPage = ({ title, styles = [], headerClass, header, children }: OperatorPageProps) => (
  <PageFrame
    lang="en"
    title={stripBidiControls(title)}
    styles={['/support/support.css', ...styles]}
    headerClass={headerClass}
    header={raw(stripBidiControls(written(header)))}
  >
    <main>{raw(stripBidiControls(written(children)))}</main>
  </PageFrame>
)

export const Time = ({ at }: { at: Date }) => (
  <time datetime={at.toISOString()}>{at.toISOString().slice(0, 19).replace('T', ' ')} UTC</time>
)
