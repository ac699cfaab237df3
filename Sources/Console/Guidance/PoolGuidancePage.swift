import HTTP
import Identity
import Localization
import Templating

/// `S/guidance`: the support playbook of a project or tenant, with all versions.
struct PoolGuidancePage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<PoolGuidanceView>

  func show(_ context: PoolContext) async throws -> Response {
    let pool = context.pool
    let query = context.signedIn.query
    let newest = try await identity.guidance.read(pool)
    let versions = try await identity.guidance.versions(pool, after: query.text("after"))
    var shown = newest
    if let asked = query.text("version") {
      guard let number = Int(asked) else { throw Refusal.notFound }
      shown = try await identity.guidance.read(pool, version: number)
      guard shown != nil else { throw Refusal.notFound }
    }
    let frame = try await frames.frame(Message("Support playbook"), in: context)
    var model = PoolGuidanceView(
      frame: FrameView(frame), context: context, newest: newest?.version, shown: shown,
      versions: versions)
    if let shown, !shown.text.isEmpty { model.text = parts.prose.markup(shown, of: pool) }
    return .html(view.render(model))
  }
}

struct PoolGuidanceView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let newest: GuidanceVersion?
  let shown: GuidanceText?
  let versions: Page<GuidanceVersion>
  var text: Markup?

  private var pool: Pool { context.pool }
  private var mayChange: Bool { context.may(.changePool) }
  private var isOld: Bool { shown?.version.number != newest?.number }

  private var empty: EmptyView {
    EmptyView(
      heading: Message("No support playbook yet"),
      sentence: Message(
        """
        Describe how support verifies callers, when a factor can be removed, and who to ask. The \
        playbook is shown next to each user.
        """),
      link: mayChange
        ? Link(
          text: Message("Write playbook"), href: ConsolePaths.guidanceEditor(pool),
          isPrimary: true) : nil)
  }

  private var rows: [VersionRow] {
    versions.items.map { version in
      let isNewest = version == newest
      let query: Form = isNewest ? [:] : ["version": String(version.number)]
      return VersionRow(
        version: version, href: query.query(of: ConsolePaths.poolGuidance(pool)),
        isCurrent: version == shown?.version, isNewest: isNewest, times: frame.times)
    }
  }

  private var old: Message? {
    guard isOld, let shown else { return nil }
    return Message("This is version {number}.", ["number": .text(String(shown.version.number))])
  }

  private var restore: String? {
    guard mayChange, isOld, let shown else { return nil }
    let query: Form = ["version": String(shown.version.number)]
    return query.query(of: ConsolePaths.guidanceEditor(pool))
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("poolName") { $0.pool.name },
    .text("edit") {
      $0.mayChange && $0.text != nil && !$0.isOld ? ConsolePaths.guidanceEditor($0.pool) : nil
    },
    .text("old") { $0.old },
    .text("present") { ConsolePaths.poolGuidance($0.pool) },
    .text("restore") { $0.restore },
    .markup(\.text),
    .object("empty") { $0.empty },
    .list("versions") { $0.rows },
    .text("older") { view in
      view.versions.next.map {
        (["after": $0] as Form).query(of: ConsolePaths.poolGuidance(view.pool))
      }
    },
    .text("audit") { view in
      guard view.context.may(.readAudit) else { return nil }
      let id = view.pool.objectID
      return (["kind": "guidance", "object": id] as Form).query(of: ConsolePaths.audit(view.pool))
    },
    .text("guides") { $0.pool.guides() },
  ]
}

struct VersionRow: ViewModel {
  let version: GuidanceVersion
  let href: String
  let isCurrent: Bool
  let isNewest: Bool
  let times: Times

  static let keys: Keys<Self> = [
    .text(\.href),
    .text("name") {
      Message("Version {number}", ["number": .text(String($0.version.number))])
    },
    .flag(\.isCurrent),
    .text("state") {
      $0.isNewest
        ? Message("current")
        : $0.version.bytes == 0 ? Message("empty") : nil
    },
    .text("who") { $0.version.writtenBy },
    .markup("at") { $0.times.moment($0.version.writtenAt) },
    .text("length") {
      Message(one: "{count} byte", other: "{count} bytes", ["count": .number($0.version.bytes)])
    },
  ]
}

/// The support playbooks of projects and tenants.
enum GuidanceRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let poolGuidance = try parts.page("guidance/pool", PoolGuidancePage.init)
    table.inside(ConsolePaths.poolGuidance, .get(.seePool), poolGuidance.show)

    let editor = try parts.page("guidance/edit", GuidanceEditorPage.init)
    table.inside(ConsolePaths.guidanceEditor, .get(.changePool), editor.show)
    table.inside(
      ConsolePaths.guidanceEditor, .preparing(.editGuidance),
      editor.preview)
    table.inside(
      ConsolePaths.guidanceVersions, .performing(.editGuidance),
      editor.save)
  }
}

extension ConsolePaths {
  static let poolGuidance = PoolPath0("guidance")
  static let guidanceEditor = PoolPath0("guidance", "edit")
  static let guidanceVersions = PoolPath0("guidance", "versions")
}
