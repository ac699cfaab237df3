import HTTP
import Identity

enum ReviewRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let (identity, frames) = (parts.identity, parts.frames)
    let tables = PoolTables(identity, try parts.template("pools/row", for: PoolRow.self))
    let review = PoolsPage(
      purpose: .review, identity: identity, frames: frames, tables: tables,
      view: try parts.template("pools/pools", for: PoolsView.self))
    table.inProject(.get, ConsolePaths.review, .seePool, review.show)
    table.inProject(.get, ConsolePaths.reviewFile, .seePool, review.download)

    let reviews = ReviewsPage(
      identity: identity, frames: frames, tables: tables,
      view: try parts.template("review/reviews", for: ReviewsView.self))
    table.somewhere(.get, ConsolePaths.reviews, .readPolicy, reviews.show)
    table.somewhere(.get, ConsolePaths.reviewsFile, .readPolicy, reviews.download)

    let signOff = SignOffPage(
      identity: identity, actions: parts.actions,
      view: try parts.template("review/sign-off", for: SignOffView.self))
    table.inProject(.get, ConsolePaths.signOff, .signOffReview, signOff.show)
    table.inProject(ConsolePaths.signOff, performing: [.signOffReview], signOff.sign)

    let evidence = EvidencePage(
      identity: identity, frames: frames,
      view: try parts.template("review/evidence", for: EvidenceView.self))
    table.inProject(.get, ConsolePaths.evidence, .signOffReview, evidence.show)
    table.inProject(.get, ConsolePaths.evidenceFile, .signOffReview, evidence.download)
  }
}

extension ConsolePaths {
  static let reviews = Path("review")
  static let reviewsFile = Path("review.csv")
  static let review = Path("projects", nil, "review", parameters: String.self)
  static let reviewFile = Path("projects", nil, "review.csv", parameters: String.self)
  static let signOff = Path("projects", nil, "review", "sign-off", parameters: String.self)
  static let evidence = Path("projects", nil, "review", "evidence", parameters: String.self)
  static let evidenceFile = Path(
    "projects", nil, "review", "evidence.json", parameters: String.self)
}
