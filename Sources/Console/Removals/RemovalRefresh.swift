import HTTP
import Templating

/// The automatic refresh of the page of a bulk removal while it runs, and the page's addresses,
/// which keep it off.
struct RemovalRefresh: ViewModel {
  /// The interval, in seconds.
  private static let pause = 3
  /// The name in the query that turns it off.
  private static let still = "still"

  let path: String
  /// The tab of the lines that are shown; empty for all lines.
  let tab: String
  /// The key that the lines start after; nil for the first page.
  let after: String?
  let size: PageSize
  private let isOff: Bool

  init(_ path: String, _ query: Form, tab: String = "") {
    self.path = path
    self.tab = tab
    after = query.text("after")
    size = PageSize(query)
    isOff = query[Self.still] != nil
  }

  var query: Form { query(tab, isOff: isOff) }

  func address(ofTab tab: String) -> String { query(tab, isOff: isOff).query(of: path) }

  private func address(isOff: Bool) -> String {
    query(tab, isOff: isOff).at(after).query(of: path)
  }

  private func query(_ tab: String, isOff: Bool) -> Form {
    var form = Form()
    if !tab.isEmpty { form.add("show", tab) }
    if isOff { form.add(Self.still, "") }
    return size.added(to: form)
  }

  /// Adds the header field to the page of a running removal, unless it's off.
  func add(to response: inout Response) {
    if !isOff { response.fields.add("Refresh", String(Self.pause)) }
  }

  static let keys: Keys<Self> = [
    .flag(\.isOff),
    .number("pause") { _ in pause },
    .text("still") { $0.address(isOff: true) },
    .text("moving") { $0.address(isOff: false) },
  ]
}
