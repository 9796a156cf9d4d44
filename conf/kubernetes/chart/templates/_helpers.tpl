{{/* Name of everything that a release has; -epp must still fit behind it. */}}
{{- define "understudy.name" -}}
{{- .Release.Name | trunc 59 | trimSuffix "-" }}
{{- end }}

{{/* Labels of the pods, which a Deployment cannot change, and by which they are found. */}}
{{- define "understudy.selector" -}}
app.kubernetes.io/name: understudy
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Labels of everything. */}}
{{- define "understudy.labels" -}}
{{ include "understudy.selector" . }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}
