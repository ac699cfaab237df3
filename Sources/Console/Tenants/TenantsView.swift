import HTTP
import Identity
import Localization
import Templating

struct TenantsView: ViewModel {
  let frame: FrameView
  let projectName: String
  /// The table's rows, each a `TenantRow`.
  let rows: Markup
  let filter: FilterView?
  let pager: PagerView
  let empty: EmptyView
  let newTenant: String?

  init(
    frame: Frame, scope: Scope, page: Page<TenantSummary>, rows: Markup, query: String,
    after: String?, mayCreate: Bool
  ) {
    self.frame = FrameView(frame)
    projectName = scope.name
    self.rows = rows
    let list = ConsolePaths.tenants(scope.project.text)
    let isWhole = query.isEmpty && after == nil && page.next == nil
    filter =
      isWhole && page.items.count < 10
      ? nil : FilterView(action: list, label: Message("tenants.search"), query: query)
    pager = PagerView(
      shown: Message("tenants.count", ["count": .number(page.items.count)]), path: list,
      query: query.isEmpty ? Form() : ["q": query], after: after, next: page.next)
    newTenant = mayCreate ? ConsolePaths.newTenant(scope.project.text) : nil
    empty =
      query.isEmpty
      ? EmptyView(
        heading: Message("tenants.empty"),
        sentence: Message("tenants.empty-hint"),
        link: newTenant.map { EmptyLink(text: Message("tenants.create"), href: $0) })
      : EmptyView(
        heading: Message("tenants.not-found"),
        sentence: Message("tenants.not-found-hint"),
        link: EmptyLink(text: Message("tenants.show-all"), href: list))
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.projectName),
    .flag("hasRows") { !$0.rows.isEmpty },
    .markup("symbols") { _ in WindowStrip.symbols },
    .markup(\.rows),
    .optional(\.filter),
    .object(\.pager),
    .object(\.empty),
    .text(\.newTenant),
  ]
}
