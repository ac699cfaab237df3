import HTTP
import Identity
import Localization
import MailText
import Templating

/// `S/policy/versions`: the versions of a policy, with links to restore them.
struct PolicyVersionsPage: Sendable {
  let identity: Identity
  let frames: Frames
  let view: Template<PolicyVersionsView>

  func show(_ context: PoolContext) async throws -> Response {
    let pool = context.pool
    let versions = try await identity.policies.restorable(pool)
    var frame = try await frames.frame(Message("Policy versions"), in: context)
    frame.crumbs = [Link(text: Message("MFA policy"), href: ConsolePaths.policy(pool))]
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
    .flag("hasVersions") { !$0.versions.isEmpty },
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
    .text("zone") { $0.frame.times.zoneText },
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
      guard !row.isCurrent, row.context.may(.changePolicy) else { return nil }
      let query: Form = ["change": "version", "row": String(row.version.row.id)]
      return query.query(of: ConsolePaths.policy(row.context.pool))
    },
  ]
}
