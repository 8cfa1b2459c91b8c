/** What is drawn into the panel: nodes, and charts that need the page around them. */

export interface Drawn {
  title: string
  nodes: (Node | null)[]
  /** Called when the nodes are in the page: charts need their width. Returns what removes the charts. */
  afterwards?: () => () => void
}
