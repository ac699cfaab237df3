import HTTP
import Identity

enum FactorsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let pages = parts.support
    table.inScope(ConsolePaths.removal, performing: RemoveFactor(pages: pages))
    table.inScope(ConsolePaths.removalOfAll, performing: RemoveAllFactors(pages: pages))
    table.inScope(ConsolePaths.undo, performing: RestoreFactors(pages: pages))
    table.inScope(ConsolePaths.purge, performing: RestoreFactors(pages: pages, isPurge: true))
    table.inScope(ConsolePaths.suspension, performing: SuspendFactor(pages: pages))
    table.inScope(
      ConsolePaths.endOfSuspension, performing: SuspendFactor(pages: pages, isEnding: true))
    table.inScope(ConsolePaths.factorName, performing: RenameFactor(pages: pages))
  }
}

extension ConsolePaths {
  static let removal = ScopePath2("users", nil, "factors", nil, "removal")
}
