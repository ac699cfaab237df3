import Database
import DatabaseSQLite
import Foundation

/// Copies the database while the server runs.
enum BackupCommand: Command {
  static let name = "backup"
  static let summary = "makes a consistent copy of the database, also while the server runs"
  static let operands = "FILE"
  static let options = [Instance.dataOption]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let file = try arguments.operand("the file to make")
    let folder = DataFolder(path: try arguments.required("data"))
    try folder.mustExist()
    let database = try folder.open()
    do {
      try await database.backup(to: file)
      await database.close()
    } catch {
      await database.close()
      guard let error = error as? DatabaseError else { throw error }
      if case .exists = error.code {
        throw ConfigurationError("\(file) is there already; it is not overwritten.")
      }
      throw ConfigurationError("The copy could not be made: \(error.message)")
    }
    Terminal.say(
      """
      Made \(file). It holds no key: keep a copy of \(folder.path)/master.key in another place, \
      for without it no second factor in the backup can be read.
      """)
    return 0
  }
}
