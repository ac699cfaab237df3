import HTTP
import Identity

/// Notes about users.
enum NotesRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    table.inScope(ConsolePaths.newNote, performing: WriteNote(pages: parts.support))
    table.inScope(
      ConsolePaths.noteRemoval, performing: DeleteNote(pages: parts.support))
  }
}
