import HTTP
import Identity
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
      ? nil : FilterView(action: list, label: "Search tenants by name or ID", query: query)
    pager = PagerView(
      shown: Words.count(page.items.count, "tenant", "tenants"), path: list,
      query: query.isEmpty ? Form() : ["q": query], after: after, next: page.next)
    newTenant = mayCreate ? ConsolePaths.newTenant(scope.project.text) : nil
    empty =
      query.isEmpty
      ? EmptyView(
        heading: "No tenants yet",
        sentence:
          "A tenant is a separate group of users with its own sign-in methods and MFA policy. Tenants are optional.",
        link: newTenant.map { EmptyLink(text: "Create tenant", href: $0) })
      : EmptyView(
        heading: "No matching tenants",
        sentence: "Searched the names and IDs of this project’s tenants.",
        link: EmptyLink(text: "Show all tenants", href: list))
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .text("projectName") { $0.projectName },
    .flag("hasRows") { !$0.rows.bytes.isEmpty },
    .markup("symbols") { _ in WindowStrip.symbols },
    .markup("rows") { $0.rows },
    .optional("filter") { $0.filter },
    .object("pager") { $0.pager },
    .object("empty") { $0.empty },
    .text("newTenant") { $0.newTenant },
  ]
}
