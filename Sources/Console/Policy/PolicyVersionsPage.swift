import HTTP
import Identity
import Localization
import MailText
import Templating

/// `S/policy/versions`: the versions of a policy, with links to restore them.
struct PolicyVersionsPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<PolicyVersionsView>

  func show(_ context: PoolContext) async throws -> Response {
    let pool = context.pool
    let versions = try await identity.policies.restorable(pool)
    let frame = try await frames.frame(
      Message("Policy versions"), in: context,
      crumbs: [Link(text: Message("MFA policy"), href: ConsolePaths.policy(pool))])
    let model = PolicyVersionsView(
      frame: FrameView(frame), context: context, versions: versions, catalog: frames.catalog)
    return .html(view.render(model))
  }
}

struct PolicyVersionsView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let versions: [PolicyVersion]
  let catalog: Catalog

  static let keys: Keys<Self> = [
    .object(\.frame),
    .object("empty") { _ in
      EmptyView(
        heading: Message("No versions"),
        sentence: Message("The policy hasn’t changed since it was created."))
    },
    .list("versions") { view in
      view.versions.map { version in
        PolicyVersionRow(
          version: version, isCurrent: version.edit == view.versions.first?.edit,
          context: view.context,
          history: HistoryRow(policy: version.row, view.frame.times, view.catalog))
      }
    },
    .flag("mayRestore") { $0.context.may(.changePolicy) && $0.context.pool.kind == .hosted },
  ]
}

struct PolicyVersionRow: ViewModel {
  let version: PolicyVersion
  let isCurrent: Bool
  let context: PoolContext
  let history: HistoryRow

  private func value(_ field: PolicyChange.Field) -> Message {
    PolicyChange.value(field, version.edit).message
  }

  static let keys: Keys<Self> = [
    .text("number") { Message.value(.number($0.version.number)) },
    .text("totp") { $0.value(.totp) },
    .markup("window") { WindowStrip.small($0.version.edit.configuration) },
    .text("sms") { $0.value(.sms) },
    .text("pattern") { $0.value(.pattern) },
    .text("what") { $0.history.what },
    .text("who") { $0.history.who },
    .markup("at") { $0.history.at },
    .text("why") { $0.history.why },
    .flag(\.isCurrent),
    .text("restore") { row in
      guard !row.isCurrent, row.context.may(.changePolicy), row.context.pool.kind == .hosted else {
        return nil
      }
      let query: Form = ["change": "version", "row": String(row.version.row.id)]
      return query.query(of: ConsolePaths.policy(row.context.pool))
    },
  ]
}

struct PolicyVersions: ViewModel {
  let rows: [HistoryRow]
  let older: String?
  let newest: String?
  let comparison: String
  let audit: String?

  init(
    _ page: Page<AuditRow>, after: String?, in context: PoolContext, times: Times,
    catalog: Catalog
  ) {
    let path = ConsolePaths.policy(context.pool)
    rows = page.items.map { HistoryRow(policy: $0, times, catalog) }
    older = page.next.map { (["after": $0] as Form).query(of: path) + "#versions" }
    newest = after == nil ? nil : path
    comparison = ConsolePaths.comparison(context.pool)
    audit =
      context.may(.readAudit)
      ? (["action": "policy"] as Form).query(of: ConsolePaths.audit(context.pool)) : nil
  }

  static let keys: Keys<Self> = [
    .list("history") { $0.rows },
    .text(\.older),
    .text(\.newest),
    .text(\.comparison),
    .text(\.audit),
  ]
}

enum PolicyVersionsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let page = try parts.page("policy-versions/list", PolicyVersionsPage.init)
    table.inside(ConsolePaths.policyVersions, .get(.readPolicy), page.show)
  }
}

extension ConsolePaths {
  static let policyVersions = PoolPath0("policy", "versions")
}
