import HTTP
import Identity

enum FactorsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, forms) = (parts.identity, parts.actions)
    table.inScope(ConsolePaths.removal, performing: RemoveFactor(identity: identity), forms)
    table.inScope(
      ConsolePaths.removalOfAll, performing: RemoveAllFactors(identity: identity), forms)
    let origin = parts.frames.publicURL.origin
    table.inScope(
      ConsolePaths.undo, performing: RestoreFactors(identity: identity, origin: origin), forms)
    table.inScope(
      ConsolePaths.purge,
      performing: RestoreFactors(identity: identity, origin: origin, isPurge: true), forms)
    table.inScope(ConsolePaths.suspension, performing: SuspendFactor(identity: identity), forms)
    table.inScope(
      ConsolePaths.endOfSuspension, performing: SuspendFactor(identity: identity, isEnding: true),
      forms)
    table.inScope(ConsolePaths.factorName, performing: RenameFactor(identity: identity), forms)
  }
}

extension ConsolePaths {
  static let removal = ScopePath2("users", nil, "factors", nil, "removal")
}
