import HTTP
import Identity

/// The support playbooks of projects and tenants, and the guides to the enrollment patterns.
enum GuidanceRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let scopeGuidance = ScopeGuidancePage(
      guidance: identity.guidance, prose: parts.prose, frames: frames,
      view: try parts.template("guidance/scope", for: ScopeGuidanceView.self))
    table.inScope(.get, ConsolePaths.scopeGuidance, .seeScope, scopeGuidance.show)

    let editor = GuidanceEditorPage(
      guidance: identity.guidance, frames: frames,
      view: try parts.template("guidance/edit", for: GuidanceEditorView.self))
    table.inScope(.get, ConsolePaths.guidanceEditor, .changeScope, editor.show)
    table.inScope(
      ConsolePaths.guidanceEditor, preparing: [.editGuidance],
      PreviewGuidance(editor: editor).perform)
    table.inScope(
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
  static let scopeGuidance = ScopePath0("guidance")
  static let guidanceEditor = ScopePath0("guidance", "edit")
  static let guidanceVersions = ScopePath0("guidance", "versions")
}
