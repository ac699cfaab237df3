import HTTP
import Identity
import Localization
import Templating

/// `/projects/{p}/review`: shows the MFA policies of a project and all its tenants.
struct ReviewPage: Sendable {
  let identity: Identity
  let frames: Frames
  let view: Template<ReviewView>
  let row: Template<ReviewRow>
  let rows = MarkupCache<ReviewRow.Source>()

  private static let length = 50

  func show(_ context: ProjectContext) async throws(Refusal) -> Response {
    let asked = ReviewAddress(context)
    let review = try await read(context, asked, limit: Self.length)
    let frame = try await frames.frame(
      Message("review.policy-review"), in: context)
    let exemptions = try await refusing {
      try await identity.exemptions.counts(in: context.scope.project)
    }
    let own = asked.isNarrowed || asked.after != nil ? nil : review.project
    let administrator = context.signedIn.administrator
    let mayChangeAll = administrator.may(.changePolicy, in: context.scope)
    let trends = try await identity.activity.trends(
      of: ([own].compactMap { $0 } + review.tenants.items).map(\.key), at: identity.clock.now())
    let sources = ([own].compactMap { $0 } + review.tenants.items).map { summary in
      ReviewRow.Source(
        project: context.scope.project, summary: summary, base: review.project?.inForce,
        trend: trends[summary.key] ?? EnrollmentTrend(),
        mayChange: mayChangeAll
          || administrator.may(
            .changePolicy, project: context.scope.project, tenant: summary.tenant),
        exemptions: exemptions[summary.tenant] ?? 0,
        times: frame.times)
    }
    let rows = rows.joined(sources) { row.render(ReviewRow($0)) }
    var model = ReviewView(
      frame: frame, scope: context.scope, review: review, rows: rows,
      shown: sources.count, asked: asked)
    if administrator.may(.readPolicy, in: context.scope) {
      model.signOff = try await signOff(context)
    }
    return .html(view.render(model))
  }

  private func signOff(_ context: ProjectContext) async throws(Refusal) -> SignOffSection {
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

  /// Downloads the entire review as a CSV file.
  func download(_ context: ProjectContext) async throws(Refusal) -> Response {
    var asked = ReviewAddress(context)
    asked.after = nil
    var file = ReviewFile(
      publicURL: frames.publicURL, project: context.scope.project, catalog: frames.catalog)
    var isFirst = true
    let exemptions = try await refusing {
      try await identity.exemptions.counts(in: context.scope.project)
    }
    repeat {
      let review = try await read(context, asked, limit: 1_000)
      if isFirst, !asked.isNarrowed, let own = review.project {
        file.add(own, base: own.inForce, exemptions: exemptions[nil] ?? 0)
      }
      for tenant in review.tenants.items {
        file.add(
          tenant, base: review.project?.inForce, exemptions: exemptions[tenant.tenant] ?? 0)
      }
      (asked.after, isFirst) = (review.tenants.next, false)
    } while asked.after != nil
    return file.csv.response(named: "mfa-policies-\(context.scope.project.text)")
  }

  private func read(
    _ context: ProjectContext, _ asked: ReviewAddress, limit: Int
  ) async throws(Refusal) -> PolicyReview {
    do {
      return try await identity.policies.review(
        context.scope.project, visibleTo: context.signedIn.administrator, asked.query,
        after: asked.after, limit: limit)
    } catch {
      throw Refusal(error)
    }
  }
}

/// The search, filter, and order in the query of a review page.
struct ReviewAddress: Sendable {
  let search: String
  let selection: PolicyReviewQuery.Selection
  let order: PolicyReviewQuery.Order
  var after: String?

  init(_ context: ProjectContext) {
    let asked = context.signedIn.query
    search = asked.trimmed("q")
    selection = PolicyReviewQuery.Selection(rawValue: asked.trimmed("show")) ?? .all
    order = PolicyReviewQuery.Order(rawValue: asked.trimmed("sort")) ?? .name
    after = asked.text("after")
  }

  /// Whether a search or filter leaves out tenants.
  var isNarrowed: Bool { !search.isEmpty || selection != .all }

  var query: PolicyReviewQuery {
    PolicyReviewQuery(
      search: search.isEmpty ? nil : search, selection: selection, order: order)
  }

  /// The query of a link to this view, optionally with another filter or order.
  func form(
    _ selection: PolicyReviewQuery.Selection? = nil, _ order: PolicyReviewQuery.Order? = nil
  ) -> Form {
    let (selection, order) = (selection ?? self.selection, order ?? self.order)
    var form = Form()
    if !search.isEmpty { form.add("q", search) }
    if selection != .all { form.add("show", selection.rawValue) }
    if order != .name { form.add("sort", order.rawValue) }
    return form
  }
}
