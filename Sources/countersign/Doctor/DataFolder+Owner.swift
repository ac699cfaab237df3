import Foundation

extension DataFolder {
  /// The database and the master key.
  var privateFiles: [String] { databaseFiles + [key] }

  /// Returns a finding for each file that the server opens and that doesn't belong to the folder's
  /// owner, whose server couldn't start with it.
  ///
  /// - Parameter events: The folder with the files of event streams; nil for the one in this
  ///   folder.
  /// - Returns: The findings.
  func foreignFiles(events: String?) -> [Finding] {
    guard let owner = Self.owner(of: path) else { return [] }
    let events = events ?? "\(path)/events"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: events)) ?? []
    let streams = names.filter { $0.hasSuffix(".jsonl") }.sorted().map { "\(events)/\($0)" }
    return (privateFiles + [serverLock, keysLock, events] + streams).compactMap { file in
      guard let other = Self.owner(of: file), other != owner else { return nil }
      return .otherOwner(path: file, owner: other, folderOwner: owner)
    }
  }

  private static func owner(of path: String) -> Int? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: resolved(path))
    return (attributes?[.ownerAccountID] as? NSNumber)?.intValue
  }
}
