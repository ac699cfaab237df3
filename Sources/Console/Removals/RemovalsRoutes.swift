import HTTP
import Identity

/// Bulk removals.
enum RemovalsRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let removals = RemovalsPage(
      removals: identity.bulkRemovals, frames: frames,
      view: try parts.template("removals/removals", for: RemovalsView.self))
    table.inScope(.get, ConsolePaths.removals, .removeFactors, removals.show)
    table.inScope(
      ConsolePaths.removals, performing: [.previewBulkRemoval], removals.look)

    let job = RemovalJobPage(
      identity: identity, ending: parts.support.ending,
      draft: try parts.template("removals/draft", for: RemovalDraftView.self),
      view: try parts.template("removals/job", for: RemovalJobView.self))
    table.inScope(.get, ConsolePaths.bulkRemoval, .removeFactors, job.show)
    table.inScope(
      ConsolePaths.bulkRemoval, performing: [.startBulkRemoval], job.begin)
    table.inScope(
      ConsolePaths.endOfRemoval, performing: [.stopBulkRemoval], job.end)
    table.inScope(.get, ConsolePaths.removalFile, .removeFactors, job.download)
    let undo = try undoPage(parts)
    table.inScope(.get, ConsolePaths.undoOfBulkRemoval, .removeFactors, undo.show)
    table.inScope(
      ConsolePaths.undoOfBulkRemoval, performing: [.undoBulkRemoval], undo.perform)
    try addRoutesAcrossPools(to: &table, parts)
  }

  private static func undoPage(_ parts: ConsoleParts) throws -> UndoRemovalPage {
    UndoRemovalPage(
      identity: parts.identity, ending: parts.support.ending,
      view: try parts.template("removals/undo", for: UndoRemovalView.self))
  }

  private static func addRoutesAcrossPools(
    to table: inout RouteTable, _ parts: ConsoleParts
  ) throws {
    let identity = parts.identity
    let groups = RemovalGroupsPage(
      identity: identity, frames: parts.frames,
      view: try parts.template("removals/groups", for: RemovalGroupsView.self))
    table.somewhere(.get, ConsolePaths.removalGroups, .removeFactors, groups.show)
    table.somewhere(
      ConsolePaths.removalGroups, performing: [.previewBulkRemoval], groups.look)

    let group = RemovalGroupPage(
      identity: identity, ending: parts.support.ending,
      draft: try parts.template("removals/group-draft", for: RemovalGroupDraftView.self),
      view: try parts.template("removals/group", for: RemovalGroupView.self))
    table.somewhere(.get, ConsolePaths.removalGroup, .removeFactors, group.show)
    table.somewhere(ConsolePaths.removalGroup, performing: [.startBulkRemoval], group.begin)
    table.somewhere(ConsolePaths.endOfRemovalGroup, performing: [.stopBulkRemoval], group.end)

    let undo = try undoPage(parts)
    table.somewhere(.get, ConsolePaths.undoOfRemovalGroup, .removeFactors, undo.show)
    table.somewhere(
      ConsolePaths.undoOfRemovalGroup, performing: [.undoBulkRemoval], undo.perform)
  }
}
