import Database

/// The position of an entry in a pool's list by time, which is a number of microseconds or of days.
struct ActivityCursor: Comparable {
  let at: Int64
  let account: Int64

  static func < (left: ActivityCursor, right: ActivityCursor) -> Bool {
    (left.at, left.account) < (right.at, right.account)
  }

  var cursor: String { "\(at).\(account)" }

  init(at: Int64, account: Int64) {
    self.at = at
    self.account = account
  }

  init?(_ cursor: String) {
    let numbers = cursor.split(separator: ".").map { Int64($0) }
    guard numbers.count == 2, let at = numbers[0], let account = numbers[1] else { return nil }
    self.init(at: at, account: account)
  }

  init(_ row: inout Row) throws {
    self.init(at: try row.next(), account: try row.next())
  }
}
