import HTTP

/// The number of rows on a page of a list, from the field `size` of its query.
struct PageSize: Equatable, Sendable {
  /// The sizes of a page; each divides the number of users that a search finds.
  private static let all = [10, 20, 50, 100, 200]
  private static let usual = 50

  let rows: Int

  /// Reads the size from a query; any other value means the usual size.
  init(_ query: Form) {
    let rows = query.text("size").flatMap { Int($0) } ?? Self.usual
    self.rows = Self.all.contains(rows) ? rows : Self.usual
  }

  /// The query with only the size; empty for the usual one.
  var form: Form { added(to: Form()) }

  /// Returns a query with the size, unless it's the usual one.
  func added(to form: Form) -> Form {
    var form = form
    if rows != Self.usual { form.add("size", String(rows)) }
    return form
  }
}
