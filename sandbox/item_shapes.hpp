#pragma once

#include <array>
#include <string_view>

/// What the items of the providers look like. Only items.cpp includes this.
namespace sluice::sandbox::item_shapes {

constexpr std::array<std::string_view, 22> places{
  "odd",  "id",    "n",   "repo", "owner", "rid", "title", "body",  "state",  "created", "updated",
  "done", "merge", "sha", "base", "login", "uid", "draft", "label", "number", "more",    "flag"};

enum place : std::size_t {
  odd,
  id,
  n,
  repo,
  owner,
  rid,
  title,
  body,
  state,
  created,
  updated,
  done,
  merge,
  sha,
  base,
  login,
  uid,
  draft,
  label,
  number,
  more,
  flag
};

// A user as GitHub writes it, without its braces.
#define SLUICE_SANDBOX_USER                                                                                                        \
  R"("login":"@login@","id":@uid@,"node_id":"MDQ6VXNlckB1aWRA","avatar_url":"https://avatars.githubusercontent.com/u/@uid@?v=4",)" \
  R"("gravatar_id":"","url":"https://api.github.com/users/@login@","html_url":"https://github.com/@login@",)"                      \
  R"("repos_url":"https://api.github.com/users/@login@/repos","type":"User","site_admin":false)"

constexpr std::string_view pull_request =
  R"({@odd@"url":"https://api.github.com/repos/@repo@/pulls/@n@","id":@id@,"node_id":"PR_kwDO@sha@",
  "html_url":"https://github.com/@repo@/pull/@n@","diff_url":"https://github.com/@repo@/pull/@n@.diff",
  "patch_url":"https://github.com/@repo@/pull/@n@.patch","issue_url":"https://api.github.com/repos/@repo@/issues/@n@",
  "number":@n@,"state":"@state@","locked":false,"title":"@title@","user":{)" SLUICE_SANDBOX_USER
  R"(},
  "body":"@body@","created_at":"@created@","updated_at":"@updated@","closed_at":@done@,"merged_at":@merge@,
  "merge_commit_sha":"@base@","assignee":null,"assignees":[],"requested_reviewers":[],"requested_teams":[],
  "labels":[{"id":@rid@7,"node_id":"LA_kwDO@rid@","url":"https://api.github.com/repos/@repo@/labels/@label@",
  "name":"@label@","color":"a2eeef","default":true,"description":null}],"milestone":null,"draft":@draft@,
  "commits_url":"https://api.github.com/repos/@repo@/pulls/@n@/commits",
  "comments_url":"https://api.github.com/repos/@repo@/issues/@n@/comments",
  "statuses_url":"https://api.github.com/repos/@repo@/statuses/@sha@",
  "head":{"label":"@owner@:topic-@n@","ref":"topic-@n@","sha":"@sha@","user":{)" SLUICE_SANDBOX_USER
  R"(},
  "repo":{"id":@rid@,"name":"@repo@","full_name":"@repo@","private":true,"fork":false}},
  "base":{"label":"@owner@:main","ref":"main","sha":"@base@","repo":{"id":@rid@,"full_name":"@repo@","private":true,
  "default_branch":"main","stargazers_count":17,"score":1.50e+2}},
  "_links":{"self":{"href":"https://api.github.com/repos/@repo@/pulls/@n@"},
  "html":{"href":"https://github.com/@repo@/pull/@n@"}},
  "author_association":"CONTRIBUTOR","auto_merge":null,"active_lock_reason":null})";

constexpr std::string_view issue =
  R"({@odd@"url":"https://api.github.com/repos/@repo@/issues/@n@","repository_url":"https://api.github.com/repos/@repo@",
  "labels_url":"https://api.github.com/repos/@repo@/issues/@n@/labels{/name}",
  "comments_url":"https://api.github.com/repos/@repo@/issues/@n@/comments",
  "events_url":"https://api.github.com/repos/@repo@/issues/@n@/events","html_url":"https://github.com/@repo@/issues/@n@",
  "id":@id@,"node_id":"I_kwDO@sha@","number":@n@,"title":"@title@","user":{)" SLUICE_SANDBOX_USER
  R"(},
  "labels":[{"id":@rid@7,"name":"@label@","color":"d73a4a","default":true,"description":"Something isn't working"}],
  "state":"@state@","locked":false,"assignee":null,"assignees":[{)" SLUICE_SANDBOX_USER
  R"(}],"milestone":null,
  "comments":4,"created_at":"@created@","updated_at":"@updated@","closed_at":@done@,"author_association":"MEMBER",
  "active_lock_reason":null,@more@"body":"@body@","closed_by":null,
  "reactions":{"url":"https://api.github.com/repos/@repo@/issues/@n@/reactions","total_count":3,"+1":2,"-1":0,
  "laugh":0,"hooray":1,"confused":0,"heart":0,"rocket":0,"eyes":0},
  "timeline_url":"https://api.github.com/repos/@repo@/issues/@n@/timeline","performed_via_github_app":null,
  "state_reason":null})";

/// What tells a pull request among issues.
constexpr std::string_view pull_request_mark =
  R"("draft":@draft@,"pull_request":{"url":"https://api.github.com/repos/@repo@/pulls/@n@",
  "html_url":"https://github.com/@repo@/pull/@n@","merged_at":@merge@},)";

constexpr std::string_view release =
  R"({@odd@"url":"https://api.github.com/repos/@repo@/releases/@id@",
  "assets_url":"https://api.github.com/repos/@repo@/releases/@id@/assets",
  "upload_url":"https://uploads.github.com/repos/@repo@/releases/@id@/assets{?name,label}",
  "html_url":"https://github.com/@repo@/releases/tag/v1.@n@.0","id":@id@,"author":{)" SLUICE_SANDBOX_USER
  R"(},
  "node_id":"RE_kwDO@sha@","tag_name":"v1.@n@.0","target_commitish":"main","name":"@title@","draft":@draft@,
  "prerelease":@flag@,"created_at":"@created@","published_at":@done@,"assets":[{"id":@id@9,"name":"bundle.tar.gz",
  "label":"","content_type":"application/gzip","state":"uploaded","size":1048576,"download_count":42,
  "created_at":"@created@","browser_download_url":"https://github.com/@repo@/releases/download/v1.@n@.0/bundle.tar.gz"}],
  "tarball_url":"https://api.github.com/repos/@repo@/tarball/v1.@n@.0","zipball_url":"https://api.github.com/repos/@repo@/zipball/v1.@n@.0",
  "body":"@body@"})";

constexpr std::string_view deployment =
  R"({@odd@"uid":"@id@","name":"@repo@","projectId":"@rid@","url":"@repo@-@n@-@owner@.vercel.app","created":@created@,
  "source":"git","state":"@state@","readyState":"@state@","type":"LAMBDAS","creator":{"uid":"@uid@",
  "email":"@login@@number@example.com","username":"@login@","githubLogin":"@login@"},
  "inspectorUrl":"https://vercel.com/@owner@/@repo@/@n@","meta":{"githubCommitAuthorName":"@login@",
  "githubCommitMessage":"@title@","githubCommitOrg":"@owner@","githubCommitRef":"topic-@n@","githubCommitRepo":"@repo@",
  "githubCommitSha":"@sha@","githubDeployment":"1","githubOrg":"@owner@","githubRepo":"@repo@","githubRepoVisibility":"private"},
  "target":@flag@,"aliasError":null,"aliasAssigned":@updated@,"isRollbackCandidate":true,"createdAt":@created@,
  "buildingAt":@created@,"ready":@updated@,"checksState":"completed","checksConclusion":"succeeded",
  "projectSettings":{"framework":"nextjs","buildCommand":null,"nodeVersion":"20.x","commandForIgnoringBuildStep":""},
  "proposedExpiration":null,"notes":"@body@"})";

#undef SLUICE_SANDBOX_USER

} // namespace sluice::sandbox::item_shapes
