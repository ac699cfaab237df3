import HTTP
import Identity

/// The support playbooks of projects and tenants, and the guides to the enrollment patterns.
enum GuidanceRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let poolGuidance = PoolGuidancePage(
      guidance: identity.guidance, prose: parts.prose, frames: frames,
      view: try parts.template("guidance/pool", for: PoolGuidanceView.self))
    table.inPool(.get, ConsolePaths.poolGuidance, .seePool, poolGuidance.show)

    let editor = GuidanceEditorPage(
      guidance: identity.guidance, frames: frames,
      view: try parts.template("guidance/edit", for: GuidanceEditorView.self))
    table.inPool(.get, ConsolePaths.guidanceEditor, .changePool, editor.show)
    table.inPool(
      ConsolePaths.guidanceEditor, preparing: [.editGuidance],
      PreviewGuidance(editor: editor).perform)
    table.inPool(
      ConsolePaths.guidanceVersions, performing: [.editGuidance],
      SaveGuidance(editor: editor).perform)

    let guidance = GuidancePage(
      guides: parts.guides, authorizer: parts.authorizer, frames: frames,
      index: try parts.template("guidance/index", for: GuidanceView.self),
      view: try parts.template("guidance/guide", for: GuideView.self))
    table.signedIn(.get, ConsolePaths.guidance, nil, guidance.list)
    table.signedIn(.get, ConsolePaths.guide, nil, guidance.show)
  }
}

extension ConsolePaths {
  static let guidance = Path("guidance")
  static let guide = Path("guidance", nil, parameters: String.self)
  static let poolGuidance = PoolPath0("guidance")
  static let guidanceEditor = PoolPath0("guidance", "edit")
  static let guidanceVersions = PoolPath0("guidance", "versions")
}
