import HTTP
import Identity

enum FactorsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, forms) = (parts.identity, parts.actions)
    table.inPool(ConsolePaths.removal, performing: RemoveFactor(identity: identity), forms)
    table.inPool(
      ConsolePaths.removalOfAll, performing: RemoveAllFactors(identity: identity), forms)
    let origin = parts.frames.publicURL.origin
    table.inPool(
      ConsolePaths.undo, performing: RestoreFactors(identity: identity, origin: origin), forms)
    table.inPool(
      ConsolePaths.purge,
      performing: RestoreFactors(identity: identity, origin: origin, isPurge: true), forms)
    table.inPool(ConsolePaths.suspension, performing: SuspendFactor(identity: identity), forms)
    table.inPool(
      ConsolePaths.endOfSuspension, performing: SuspendFactor(identity: identity, isEnding: true),
      forms)
    table.inPool(ConsolePaths.factorName, performing: RenameFactor(identity: identity), forms)
  }
}

extension ConsolePaths {
  static let removal = PoolPath2("users", nil, "factors", nil, "removal")
}
