import HTTP
import Identity

enum ExemptionsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let page = ExemptionsPage(
      exemptions: parts.identity.exemptions, frames: parts.frames,
      view: try parts.template("exemptions/exemptions", for: ExemptionsView.self))
    table.somewhere(.get, ConsolePaths.exemptions, .findUsers, page.show)
    table.somewhere(
      ConsolePaths.exemptionsFile, performing: [.exportUsers],
      ExemptionsFile(identity: parts.identity, actions: parts.actions).download)
    table.inScope(
      ConsolePaths.exemption, performing: ExemptUser(identity: parts.identity), parts.actions)
    table.inScope(
      ConsolePaths.endOfExemption, performing: EndExemption(identity: parts.identity), parts.actions
    )
  }
}

extension ConsolePaths {
  static let exemptions = Path("exemptions")
  static let exemptionsFile = Path("exemptions.csv")
  static let exemption = ScopePath1("users", nil, "exemption")
  static let endOfExemption = ScopePath1("users", nil, "exemption", "end")
}
