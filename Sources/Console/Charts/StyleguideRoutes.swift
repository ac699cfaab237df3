import HTTP
import Identity

/// The styleguide, which only demos have.
enum StyleguideRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let page = StyleguidePage(
      frames: parts.frames, view: try parts.template("charts/styleguide", for: StyleguideView.self))
    if parts.isDemo { table.signedIn(.get, ConsolePaths.styleguide, nil, page.show) }
  }
}

extension ConsolePaths {
  /// The page of every chart, which only demos have.
  static let styleguide = Path("styleguide")
}
