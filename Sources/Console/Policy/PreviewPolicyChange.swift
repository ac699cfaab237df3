import HTTP

/// `POST S/policy`: reviews a change before it's saved.
///
/// The policy form submits here by default, so that nothing is saved without a review.
struct PreviewPolicyChange: Sendable {
  let pages: PolicyPages

  func perform(_ context: PoolContext) async throws -> Response {
    switch try await pages.submission(context) {
    case .change(let change): try await pages.review(context, change)
    case .answer(let response): response
    }
  }
}
