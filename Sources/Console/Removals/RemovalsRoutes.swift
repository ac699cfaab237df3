import HTTP
import Identity

enum RemovalsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let removals = RemovalsPage(
      removals: identity.bulkRemovals, frames: frames,
      view: try parts.template("removals/removals", for: RemovalsView.self))
    table.inPool(.get, ConsolePaths.removals, .removeFactors, removals.show)
    table.inPool(
      ConsolePaths.removals, performing: [.previewBulkRemoval], removals.look)

    let job = RemovalJobPage(
      identity: identity, ending: parts.actions.ending,
      draft: try parts.template("removals/draft", for: RemovalDraftView.self),
      view: try parts.template("removals/job", for: RemovalJobView.self))
    table.inPool(.get, ConsolePaths.bulkRemoval, .removeFactors, job.show)
    table.inPool(
      ConsolePaths.bulkRemoval, performing: [.startBulkRemoval], job.begin)
    table.inPool(
      ConsolePaths.endOfRemoval, performing: [.stopBulkRemoval], job.end)
    table.inPool(.get, ConsolePaths.removalFile, .removeFactors, job.download)
    let undo = UndoRemovalPage(
      identity: identity, ending: parts.actions.ending,
      view: try parts.template("removals/undo", for: UndoRemovalView.self))
    table.inPool(.get, ConsolePaths.undoOfBulkRemoval, .removeFactors, undo.show)
    table.inPool(
      ConsolePaths.undoOfBulkRemoval, performing: [.undoBulkRemoval], undo.perform)
  }
}
