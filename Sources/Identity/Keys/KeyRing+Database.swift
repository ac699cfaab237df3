import Crypto
import Database

extension KeyRing {
  /// Returns whether these are the keys of a database: they include the one that encrypted
  /// everything at the end of a rotation's first pass, and the one that encrypts now.
  ///
  /// They're two during the first pass, when some rows need one and some the other. A database whose
  /// creation was interrupted doesn't name the one that encrypts now.
  func opens(_ connection: borrowing Connection) throws -> Bool {
    guard let mark = try InstanceValue("key_mark").read(connection), try self.mark().contains(mark)
    else { return false }
    guard let newest = try MasterKeys.latest(connection) else { return true }
    return ids.contains(newest.id)
  }
}
