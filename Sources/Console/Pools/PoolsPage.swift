import HTTP
import Identity
import Localization
import Templating

/// `/projects/{p}/tenants` and `/projects/{p}/review`: the pools of a project with their policies
/// and figures.
struct PoolsPage: Sendable {
  /// What the page is for.
  enum Purpose: Sendable {
    case tenants, review
  }

  let purpose: Purpose
  let identity: Identity
  let frames: Frames
  let tables: PoolTables
  let view: Template<PoolsView>

  private static let length = 50

  func show(_ context: ProjectContext) async throws(Refusal) -> Response {
    let asked = PoolsQuery(context, purpose)
    let review = try await identity.policies.review(asked, context, limit: Self.length)
    let title =
      purpose == .tenants ? Message("tenants.title") : Message("review.policy-review")
    let frame = try await frames.frame(title, in: context)
    let own =
      purpose == .tenants || asked.isNarrowed || asked.after != nil ? nil : review.project
    let rows = try await tables.rows(
      [own].compactMap { $0 } + review.tenants.items, of: review, asked.columns.shown,
      in: context,
      linkingTo: purpose == .tenants ? .overview : .policy)
    let mayCreate =
      purpose == .tenants
      && context.signedIn.administrator.may(.manageTenants, in: context.scope)
    return .html(
      view.render(
        PoolsView(
          frame: frame, title: title, scope: context.scope, review: review, rows: rows,
          asked: asked,
          signOff: try await signOff(context),
          newTenant: mayCreate ? ConsolePaths.newTenant(context.scope.project.text) : nil)))
  }

  private func signOff(_ context: ProjectContext) async throws(Refusal) -> SignOffSection? {
    guard purpose == .review,
      context.signedIn.administrator.may(.readPolicy, in: context.scope)
    else { return nil }
    let (standing, key) = try await refusing {
      (
        try await identity.reviews.standing(of: context.scope.project),
        try await identity.evidenceKeys.list().first
      )
    }
    return SignOffSection(
      scope: context.scope, standing: standing,
      maySign: context.signedIn.administrator.may(.signOffReview, in: context.scope),
      key: key, times: context.signedIn.times)
  }

  /// Downloads all pools as a CSV file.
  func download(_ context: ProjectContext) async throws(Refusal) -> Response {
    let (csv, asOf) = try await identity.fromReplica { () async throws(Refusal) in
      try await table(context)
    }
    return csv.response(named: "mfa-policies-\(context.scope.project.text)", asOf: asOf)
  }

  private func table(_ context: ProjectContext) async throws(Refusal) -> CSV {
    var asked = PoolsQuery(context, purpose)
    asked.after = nil
    let project = context.scope.project
    var file = ReviewFile(publicURL: frames.publicURL, project: project, catalog: frames.catalog)
    var isFirst = true
    let exemptions = try await refusing { try await identity.exemptions.counts(in: project) }
    repeat {
      let review = try await identity.policies.review(asked, context, limit: 1_000)
      let own = isFirst && !asked.isNarrowed ? review.project : nil
      let pools = [own].compactMap { $0 } + review.tenants.items
      let attempts = try await refusing {
        try await identity.activity.attemptCounts(
          of: pools.map(\.key), days: PoolTables.days, at: identity.clock.now())
      }
      for pool in pools {
        file.add(
          pool, base: review.project?.inForce, exemptions: exemptions[pool.tenant] ?? 0,
          attempts: attempts[pool.key] ?? AttemptCounts())
      }
      (asked.after, isFirst) = (review.tenants.next, false)
    } while asked.after != nil
    return file.csv
  }
}

extension Policies {
  /// The part of a project's policies that an address asks for.
  fileprivate func review(
    _ asked: PoolsQuery, _ context: ProjectContext, limit: Int
  ) async throws(Refusal) -> PolicyReview {
    do {
      return try await review(
        context.scope.project, visibleTo: context.signedIn.administrator, asked.query,
        after: asked.after, limit: limit)
    } catch {
      throw Refusal(error)
    }
  }
}

/// The search, filter, order, and columns in the query of a page of pools.
struct PoolsQuery: Sendable {
  let path: String
  let search: String
  let selection: PolicyReviewQuery.Selection
  let order: PolicyReviewQuery.Order
  let columns: PoolColumns
  var after: String?

  init(_ context: ProjectContext, _ purpose: PoolsPage.Purpose) {
    let (asked, project) = (context.signedIn.query, context.scope.project.text)
    path =
      purpose == .tenants ? ConsolePaths.tenants(project) : ConsolePaths.review(project)
    search = asked.trimmed("q")
    selection = PolicyReviewQuery.Selection(rawValue: asked.trimmed("show")) ?? .all
    order = PolicyReviewQuery.Order(rawValue: asked.trimmed("sort")) ?? .name
    columns = PoolColumns(asked, standard: purpose == .tenants ? .overview : .review)
    after = asked.text("after")
  }

  /// Whether a search or filter leaves out pools.
  var isNarrowed: Bool { !search.isEmpty || selection != .all }

  var query: PolicyReviewQuery {
    PolicyReviewQuery(
      search: search.isEmpty ? nil : search, selection: selection, order: order)
  }

  /// The query of a link to this list, optionally with another filter, order, or columns.
  func form(
    _ selection: PolicyReviewQuery.Selection? = nil, _ order: PolicyReviewQuery.Order? = nil,
    _ columns: PoolColumns? = nil
  ) -> Form {
    var form = Form()
    if !search.isEmpty { form.add("q", search) }
    add(selection, order, columns, to: &form)
    return form
  }

  /// The fields that a new search keeps.
  var kept: Form {
    var form = Form()
    add(nil, nil, nil, to: &form)
    return form
  }

  /// The fields that another choice of columns keeps.
  var keptByColumns: Form { form(nil, nil, PoolColumns(columns.standard)) }

  private func add(
    _ selection: PolicyReviewQuery.Selection?, _ order: PolicyReviewQuery.Order?,
    _ columns: PoolColumns?, to form: inout Form
  ) {
    let (selection, order) = (selection ?? self.selection, order ?? self.order)
    if selection != .all { form.add("show", selection.rawValue) }
    if order != .name { form.add("sort", order.rawValue) }
    (columns ?? self.columns).add(to: &form)
  }
}
