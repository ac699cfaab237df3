import HTTP
import Identity

/// The comparison of a project's policies.
enum ReviewRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let review = ReviewPage(
      identity: identity, frames: frames,
      view: try parts.template("review/review", for: ReviewView.self),
      row: try parts.template("review/row", for: ReviewRow.self))
    table.inProject(.get, ConsolePaths.review, .seeScope, review.show)
    table.inProject(.get, ConsolePaths.reviewFile, .seeScope, review.download)
  }
}
