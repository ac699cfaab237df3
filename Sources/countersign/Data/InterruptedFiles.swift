import DatabaseSQLite
import Foundation

/// The files that interrupted backups and exports left, with users' data.
enum InterruptedFiles {
  /// Returns the files in a folder whose names have a prefix and that no process is writing,
  /// sorted.
  static func files(in folder: String, prefix: String = "") -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasPrefix(prefix) && isPartial($0) }.sorted()
      .map { "\(folder)/\($0)" }.filter { !PartialFile.isBeingWritten($0) }
  }

  /// Returns the files in several folders, which may be the same one.
  static func files(in folders: [String]) -> [String] {
    let resolved = folders.map { DataFolder.resolved($0) }
    var (seen, files): (Set<String>, [String]) = ([], [])
    for (folder, path) in zip(folders, resolved) where seen.insert(path).inserted {
      files += self.files(in: folder)
    }
    return files
  }

  static func delete(in folder: String, prefix: String) {
    for file in files(in: folder, prefix: prefix) {
      try? FileManager.default.removeItem(atPath: file)
    }
  }

  /// Whether a name is that of a partial file; earlier versions append a number to it, and give a
  /// name to a backup that's written to standard output.
  private static func isPartial(_ name: String) -> Bool {
    name.hasSuffix(PartialFile.suffix) || name.contains("\(PartialFile.suffix)-")
      || name.hasPrefix(BackupCommand.streamPrefix)
  }
}
