import Foundation

extension DataFolder {
  var privateFiles: [String] { databaseFiles + [key] }

  /// Returns a finding for each file that the server opens and that doesn't belong to the folder's
  /// owner, whose server couldn't start with it.
  var foreignFiles: [Finding] {
    guard let owner = Self.owner(of: path) else { return [] }
    return (privateFiles + [serverLock, keysLock, auditFilePosition]).compactMap { file in
      guard let other = Self.owner(of: file), other != owner else { return nil }
      return .otherOwner(path: file, owner: other, folderOwner: owner)
    }
  }

  private static func owner(of path: String) -> Int? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: resolved(path))
    return (attributes?[.ownerAccountID] as? NSNumber)?.intValue
  }
}
