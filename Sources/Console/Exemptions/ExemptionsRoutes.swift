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
    table.inPool(
      ConsolePaths.exemption, performing: ExemptUser(identity: parts.identity), parts.actions)
    table.inPool(
      ConsolePaths.endOfExemption, performing: EndExemption(identity: parts.identity), parts.actions
    )
  }
}

extension ConsolePaths {
  static let exemptions = Path("exemptions")
  static let exemptionsFile = Path("exemptions.csv")
  static let exemption = PoolPath1("users", nil, "exemption")
  static let endOfExemption = PoolPath1("users", nil, "exemption", "end")
}
